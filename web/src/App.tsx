import { QueryClient } from '@tanstack/react-query'
import { AdminContext, AdminUI, CustomRoutes, localStorageStore, Resource } from 'react-admin'
import { Navigate, Route } from 'react-router-dom'
import { AffiliateList } from './affiliates/AffiliateList.tsx'
import { dataProvider } from './dataProvider.ts'
import { LoginPage } from './LoginPage.tsx'
import { i18nProvider } from './messages.ts'
import { Shell } from './Shell.tsx'
import { authProvider } from './session.tsx'
import { darkTheme, lightTheme } from './theme.ts'
import { lazily } from './ui/lazily.ts'
import { ErrorPage, NotFound } from './ui/Page.tsx'

const AffiliateCreate = lazily(() => import('./affiliates/AffiliateForms.tsx'), 'AffiliateCreate')
const AffiliateEdit = lazily(() => import('./affiliates/AffiliateForms.tsx'), 'AffiliateEdit')
const AffiliateShow = lazily(() => import('./affiliates/AffiliateShow.tsx'), 'AffiliateShow')
const PayoutList = lazily(() => import('./payouts/PayoutList.tsx'), 'PayoutList')
const PayoutCreate = lazily(() => import('./payouts/PayoutForms.tsx'), 'PayoutCreate')
const PayoutEdit = lazily(() => import('./payouts/PayoutForms.tsx'), 'PayoutEdit')
const UserList = lazily(() => import('./users/UserList.tsx'), 'UserList')
const UserCreate = lazily(() => import('./users/UserForms.tsx'), 'UserCreate')
const UserEdit = lazily(() => import('./users/UserForms.tsx'), 'UserEdit')
const Reports = lazily(() => import('./reports/Reports.tsx'), 'Reports')
const Tools = lazily(() => import('./tools/Tools.tsx'), 'Tools')
const SettingsPage = lazily(() => import('./settings/SettingsPage.tsx'), 'SettingsPage')
const AccountPage = lazily(() => import('./settings/AccountPage.tsx'), 'AccountPage')

const store = localStorageStore('1', 'affiliated')

const queryClient = new QueryClient({
  defaultOptions: {
    queries: { retry: (failures, error) => failures < 2 && !('status' in error), staleTime: 2_000 },
  },
})

export function App() {
  return (
    <AdminContext
      authProvider={authProvider}
      dataProvider={dataProvider}
      i18nProvider={i18nProvider}
      queryClient={queryClient}
      store={store}
      lightTheme={lightTheme}
      darkTheme={darkTheme}
    >
      <AdminUI
        layout={Shell}
        loginPage={LoginPage}
        error={ErrorPage}
        catchAll={NotFound}
        title="affiliated"
        requireAuth
        disableTelemetry
      >
        <Resource
          name="affiliates"
          list={AffiliateList}
          create={AffiliateCreate}
          edit={AffiliateEdit}
          show={AffiliateShow}
        />
        <Resource name="payouts" list={PayoutList} create={PayoutCreate} edit={PayoutEdit} />
        <Resource name="users" list={UserList} create={UserCreate} edit={UserEdit} />
        <CustomRoutes>
          <Route path="/reports" element={<Reports />} />
          <Route path="/tools" element={<Navigate to="/tools/api-keys" replace />} />
          <Route path="/tools/:tab" element={<Tools />} />
          <Route path="/settings" element={<SettingsPage />} />
          <Route path="/account" element={<AccountPage />} />
        </CustomRoutes>
      </AdminUI>
    </AdminContext>
  )
}

import { QueryClient } from '@tanstack/react-query'
import type { ComponentType } from 'react'
import { AdminContext, AdminUI, CustomRoutes, localStorageStore, Resource } from 'react-admin'
import { Route, useParams } from 'react-router-dom'
import { dataProvider } from './dataProvider.ts'
import { LoginPage } from './LoginPage.tsx'
import { i18nProvider } from './messages.ts'
import { ForgottenPassword, NewPassword } from './NewPassword.tsx'
import { otherPages, recordPages } from './pages.ts'
import { Shell } from './Shell.tsx'
import { authProvider } from './session.tsx'
import { darkTheme, lightTheme } from './theme.ts'
import { LatestMessage } from './ui/LatestMessage.tsx'
import { lazily } from './ui/lazily.ts'
import { Needs } from './ui/Needs.tsx'
import { ErrorPage, NotFound } from './ui/Page.tsx'

const AccountPage = lazily(() => import('./settings/AccountPage.tsx'), 'AccountPage')

/** react-admin takes the first page (`/`) as its dashboard, apart from the other routes. */
const Home = otherPages.find(({ path }) => path === '/')!.page
const routed = otherPages.filter(({ path }) => path !== '/')

const Start = () => <Home />

/** What was begun on the page of one record, such as an undo, is not offered for another. */
const OfOneRecord = ({ page: Page }: { page: ComponentType }) => <Page key={useParams().id} />

const store = localStorageStore('1', 'affiliated')

/** Asks whatever the browser says of the network: the service may be on the same machine. */
const networkMode = 'always'

const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      networkMode,
      // Not by default where it asks always.
      refetchOnReconnect: true,
      retry: (failures, error) => failures < 2 && !('status' in error),
      staleTime: 2_000,
    },
    mutations: { networkMode },
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
        notification={LatestMessage}
        dashboard={Start}
        layout={Shell}
        loginPage={LoginPage}
        error={ErrorPage}
        catchAll={NotFound}
        title="affiliated"
        requireAuth
        disableTelemetry
      >
        {recordPages.map(({ resource, name, list, create: Create, edit, show, more = {} }) => (
          <Resource
            key={resource}
            name={resource}
            list={list}
            edit={edit && <OfOneRecord page={edit} />}
            show={show && <OfOneRecord page={show} />}
            create={
              Create && (
                <Needs to={`${resource}.create`} title={`New ${name[0].toLowerCase()}`}>
                  <Create />
                </Needs>
              )
            }
          >
            {Object.entries(more).map(([path, More]) => (
              <Route key={path} path={path} element={<More />} />
            ))}
          </Resource>
        ))}
        <CustomRoutes>
          {routed.flatMap(({ path, page: Page, below = {} }) => [
            <Route key={path} path={path} element={<Page />} />,
            ...Object.entries(below).map(([part, Below]) => (
              <Route key={path + part} path={`${path}/${part}`} element={<Below />} />
            )),
          ])}
          <Route path="/account" element={<AccountPage />} />
        </CustomRoutes>
        <CustomRoutes noLayout>
          <Route path="/forgotten-password" element={<ForgottenPassword />} />
          <Route path="/new-password" element={<NewPassword />} />
        </CustomRoutes>
      </AdminUI>
    </AdminContext>
  )
}

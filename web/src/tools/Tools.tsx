import { Box, Tab, Tabs } from '@mui/material'
import { Link, Navigate, useParams } from 'react-router-dom'
import { useCan } from '../session.tsx'
import { Needs } from '../ui/Needs.tsx'
import { NotFound, Page } from '../ui/Page.tsx'
import { ApiKeys } from './ApiKeys.tsx'
import { AuditLog } from './AuditLog.tsx'
import { ExportTab } from './ExportTab.tsx'
import { SystemTab } from './SystemTab.tsx'

const tabs = [
  { path: 'api-keys', label: 'API keys', needs: 'keys.read', content: <ApiKeys /> },
  { path: 'audit-log', label: 'Audit log', needs: 'audit.read', content: <AuditLog /> },
  { path: 'export', label: 'Export', needs: undefined, content: <ExportTab /> },
  { path: 'system', label: 'System', needs: 'system.read', content: <SystemTab /> },
]

function useTabs() {
  const can = useCan()
  return tabs.filter(({ needs }) => needs === undefined || can(needs))
}

export const FirstTool = () => <Navigate to={`/tools/${useTabs()[0]!.path}`} replace />

export function Tools() {
  const { tab: path } = useParams()
  const tab = tabs.find(candidate => candidate.path === path)
  if (!tab) return <NotFound />
  return (
    <Needs to={tab.needs} title={tab.label}>
      <OpenTool tab={tab} />
    </Needs>
  )
}

function OpenTool({ tab }: { tab: (typeof tabs)[number] }) {
  return (
    <Page title={`${tab.label} · Tools`} heading="Tools">
      <Tabs
        value={tab.path}
        aria-label="Tools"
        variant="scrollable"
        scrollButtons={false}
        sx={{ borderBottom: 1, borderColor: 'divider', mb: 3, mt: -1.5 }}
      >
        {useTabs().map(({ path: value, label }) => (
          <Tab
            key={value}
            value={value}
            label={label}
            component={Link}
            to={`/tools/${value}`}
            id={`tab-${value}`}
            {...(value === tab.path && { 'aria-controls': 'tab-content' })}
          />
        ))}
      </Tabs>
      <Box role="tabpanel" id="tab-content" aria-labelledby={`tab-${tab.path}`}>
        {tab.content}
      </Box>
    </Page>
  )
}

import { useQuery } from '@tanstack/react-query'
import { get } from '../api.ts'
import { Waiting } from '../Shell.tsx'
import { count, duration, size, time } from '../ui/format.ts'
import { Problem } from '../ui/Page.tsx'
import { Tile, Tiles } from '../ui/Tile.tsx'

interface System {
  version: string
  node: string
  engine: string
  database_size_bytes: number
  counts: Record<'users' | 'affiliates' | 'payouts' | 'keys', number>
  uptime_seconds: number
  started: string
}

export function SystemTab() {
  const { data, error, refetch } = useQuery({ queryKey: ['system'], queryFn: () => get<System>('system') })
  if (error) return <Problem error={error} retry={() => refetch()} />
  if (!data) return <Waiting />
  const { users, affiliates, payouts, keys } = data.counts
  return (
    <>
      <Tiles minWidth={150}>
        <Tile label="Version" value={data.version} hint={`on Node ${data.node.replace(/^v/, '')}`} />
        <Tile label="Uptime" value={duration(data.uptime_seconds)} hint={`since ${time(data.started)}`} />
        <Tile label="Database" value={data.engine} />
        <Tile label="Database size" value={size(data.database_size_bytes)} />
      </Tiles>
      <Tiles minWidth={150}>
        <Tile label="Accounts" value={count(users)} />
        <Tile label="Affiliates" value={count(affiliates)} />
        <Tile label="Payouts" value={count(payouts)} />
        <Tile label="API keys" value={count(keys)} />
      </Tiles>
    </>
  )
}

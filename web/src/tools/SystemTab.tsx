import { useQuery } from '@tanstack/react-query'
import type { Static } from 'typebox'
import type { systemRecord } from '../../../src/admin/system/schema.ts'
import { get } from '../api.ts'
import { nameOfResource } from '../names.ts'
import { count, duration, size, time } from '../ui/format.ts'
import { Problem } from '../ui/Page.tsx'
import { Tile, Tiles } from '../ui/Tile.tsx'
import { Waiting } from '../ui/Waiting.tsx'

type System = Static<typeof systemRecord>

export function SystemTab() {
  const { data, error, refetch } = useQuery({ queryKey: ['system'], queryFn: () => get<System>('system') })
  if (error) return <Problem error={error} retry={() => refetch()} />
  if (!data) return <Waiting />
  return (
    <>
      <Tiles>
        <Tile label="Version" value={data.version} hint={`on Node ${data.node.replace(/^v/, '')}`} />
        <Tile label="Uptime" value={duration(data.uptime_seconds)} hint={`since ${time(data.started)}`} />
        <Tile label="Database" value={data.engine} />
        <Tile label="Database size" value={size(data.database_size_bytes)} />
      </Tiles>
      <Tiles>
        {Object.entries(data.counts).map(([resource, number]) => (
          <Tile key={resource} label={nameOfResource(resource)} value={count(number)} />
        ))}
      </Tiles>
    </>
  )
}

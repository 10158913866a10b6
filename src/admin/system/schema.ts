import { Type } from 'typebox'

export const systemRecord = Type.Object({
  version: Type.String({ description: 'Version of affiliated.' }),
  node: Type.String({ description: 'Version of Node.js.' }),
  engine: Type.String({ description: 'Database engine.' }),
  database_size_bytes: Type.Integer({ description: 'Size of the data.' }),
  counts: Type.Record(Type.String(), Type.Integer(), {
    description: 'Number of records of each kind, counted at most 30 seconds ago.',
  }),
  uptime_seconds: Type.Integer({ description: 'Time for which this process has been running.' }),
  started: Type.String({ description: 'When this process was started: YYYY-MM-DD HH:MM:SS, UTC.' }),
})

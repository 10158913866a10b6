import { Type } from 'typebox'

export const systemRecord = Type.Object({
  version: Type.String({ description: 'Version of affiliated.' }),
  node: Type.String({ description: 'Version of Node.js.' }),
  engine: Type.String({ description: 'The kind of database.' }),
  database_size_bytes: Type.Integer({ description: 'How much room the data takes.' }),
  counts: Type.Record(Type.String(), Type.Integer(), {
    description: 'How many records there are, counted at most 30 seconds ago.',
  }),
  uptime_seconds: Type.Integer({ description: 'How long this process has been running.' }),
  started: Type.String({ description: 'When it was started: YYYY-MM-DD HH:MM:SS, UTC.' }),
})

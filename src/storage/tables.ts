/** The tables as Kysely sees them. Each is added by the folder that owns it (`declare module`), so there is no central list. */
// biome-ignore lint/suspicious/noEmptyInterface: it is filled by those who own the tables.
export interface Tables {}

/** The tables with their indexes, constraints, triggers and rules, as PostgreSQL itself describes them. */
import { sql } from 'kysely'
import type { Db, SchemaObject } from '../database.ts'
import wanted from './objects.json' with { type: 'json' }

/**
 * The objects of a new database, written by `test/schema.test.ts`. A check only reads, so it cannot create a new database to compare
 * with.
 */
export const wantedObjects: readonly SchemaObject[] = wanted

/** The objects of these tables; others in the same schema are not of this program. Their names do not contain that of the schema. */
export async function objectsOf(db: Db, tables: readonly string[]): Promise<SchemaObject[]> {
  const { rows } = await sql<SchemaObject>`
    WITH tables AS (
      SELECT oid, relname, relrowsecurity FROM pg_class
      WHERE relkind IN ('r', 'p', 'v', 'm', 'f') AND pg_table_is_visible(oid)
        AND relnamespace <> 'pg_catalog'::regnamespace AND relname IN (${sql.join(tables)})
    ), columns AS (
      SELECT attrelid, concat_ws(' ', attname, format_type(atttypid, atttypmod),
        'COLLATE ' || (SELECT collname FROM pg_collation WHERE oid = attcollation AND attcollation <> typcollation),
        CASE WHEN attnotnull THEN 'NOT NULL' END,
        CASE WHEN attidentity <> '' THEN concat('IDENTITY ', attidentity) END,
        'DEFAULT ' || pg_get_expr(adbin, adrelid, true)) AS definition
      FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
      WHERE attnum > 0 AND NOT attisdropped
    )
    SELECT relname AS name, concat(string_agg(definition, ', ' ORDER BY definition COLLATE "C"),
        CASE WHEN relrowsecurity THEN ' (with policies)' END) AS definition
      FROM tables JOIN columns ON attrelid = tables.oid GROUP BY relname, relrowsecurity
    UNION ALL SELECT 'index ' || pg_class.relname, pg_get_indexdef(indexrelid, 0, true)
        || CASE WHEN indisvalid THEN '' ELSE ' (invalid)' END
      FROM tables JOIN pg_index ON indrelid = tables.oid JOIN pg_class ON pg_class.oid = indexrelid
      -- Not every server has what they are made of.
      WHERE pg_class.relname NOT LIKE 'search\\_%'
    UNION ALL SELECT 'constraint ' || conname || ' of ' || relname, pg_get_constraintdef(pg_constraint.oid, true)
      FROM tables JOIN pg_constraint ON conrelid = tables.oid WHERE contype IN ('c', 'f', 'p', 'u', 'x')
    UNION ALL SELECT 'trigger ' || tgname || ' of ' || relname, concat_ws(' ', pg_get_triggerdef(pg_trigger.oid, true),
        lanname, btrim(prosrc), array_to_string(proconfig, ' '), CASE WHEN tgenabled IN ('O', 'A') THEN NULL ELSE '(disabled)' END)
      FROM tables JOIN pg_trigger ON tgrelid = tables.oid JOIN pg_proc ON pg_proc.oid = tgfoid
        JOIN pg_language ON pg_language.oid = prolang WHERE NOT tgisinternal
    UNION ALL SELECT 'rule ' || rulename || ' of ' || relname, pg_get_ruledef(pg_rewrite.oid, true)
      FROM tables JOIN pg_rewrite ON ev_class = tables.oid
    ORDER BY 1`.execute(db)
  return rows
}

/** Lists in order of what an affiliate is called: the name of the account, or the login of one without. */
import { type Field, sql } from '../../records/field.ts'

type Orders = NonNullable<Field['orders']>

const called = sql`coalesce(nullif(users.display_name_key, ''), users.login_key)`

/** Of a column that names the account of an affiliate. */
export const byAccountName: Orders = {
  name: {
    of: account => sql`coalesce((SELECT ${called} FROM users WHERE users.id = ${account}), '')`,
    needs: 'affiliates.read',
  },
}

/** Of a column that names an affiliate; those who are gone come first. */
export const byAffiliateName: Orders = {
  affiliate_name: {
    of: affiliate => sql`coalesce((SELECT ${called} FROM affiliates AS named JOIN users ON users.id = named.user_id
      WHERE named.id = ${affiliate}), '')`,
    needs: 'affiliates.read',
  },
}

/** Orders by an affiliate's name: that of the account, or its login if it has none. */
import { type Field, sql } from '../../records/field.ts'

type Orders = NonNullable<Field['orders']>

const displayName = sql`coalesce(nullif(users.display_name_key, ''), users.login_key)`

/** For a column with the account of an affiliate. */
export const byAccountName: Orders = {
  name: {
    of: account => sql`coalesce((SELECT ${displayName} FROM users WHERE users.id = ${account}), '')`,
    needs: 'affiliates.read',
  },
}

/** For a column with an affiliate; deleted ones come first. */
export const byAffiliateName: Orders = {
  affiliate_name: {
    of: affiliate => sql`coalesce((SELECT ${displayName} FROM affiliates AS named JOIN users ON users.id = named.user_id
      WHERE named.id = ${affiliate}), '')`,
    needs: 'affiliates.read',
  },
}

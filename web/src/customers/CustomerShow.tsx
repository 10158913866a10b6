import EditIcon from '@mui/icons-material/EditOutlined'
import { Button } from '@mui/material'
import { Link } from 'react-router-dom'
import { AffiliateName } from '../affiliates/AffiliateName.tsx'
import { LatestReferrals } from '../referrals/LatestReferrals.tsx'
import { Allowed } from '../ui/Allowed.tsx'
import { CopyButton } from '../ui/CopyButton.tsx'
import { Details } from '../ui/Details.tsx'
import { Erase } from '../ui/Erase.tsx'
import { time } from '../ui/format.ts'
import { DeleteRecord } from '../ui/RecordForms.tsx'
import { RecordLink } from '../ui/RecordLink.tsx'
import { RecordShow } from '../ui/RecordShow.tsx'
import { type Customer, nameOf } from './customer.ts'
import { Orders } from './Orders.tsx'
import { customers } from './pages.ts'

export function CustomerShow() {
  return (
    <RecordShow<Customer>
      of={customers}
      nameOf={nameOf}
      actions={customer => <Actions customer={customer} />}
    >
      {customer => (
        <>
          <Details
            items={[
              ['Number', customer.id],
              [
                'E-mail',
                customer.email && (
                  <span key="email">
                    <bdi>{customer.email}</bdi>
                    <CopyButton text={customer.email} name="e-mail" />
                  </span>
                ),
              ],
              ['First name', customer.first_name],
              ['Last name', customer.last_name],
              [
                'Account',
                customer.user_id ? <RecordLink key="account" kind="user" id={customer.user_id} /> : '',
              ],
              ['Affiliate', <LinkedAffiliates key="affiliates" ids={customer.meta?.affiliate_id ?? []} />],
              ['Network', customer.ip],
              ['First seen', time(customer.date_created)],
            ]}
          />
          <Allowed to="conversions.read">
            <Orders customerId={customer.id} />
          </Allowed>
          <Allowed to="referrals.read">
            <LatestReferrals of={{ customer_id: customer.id }} />
          </Allowed>
        </>
      )}
    </RecordShow>
  )
}

function Actions({ customer }: { customer: Customer }) {
  return (
    <>
      <Allowed to="customers.edit">
        <Button component={Link} to={`/customers/${customer.id}`} startIcon={<EditIcon />}>
          Edit
        </Button>
      </Allowed>
      {customer.user_id === 0 && (
        <Erase of={customers} record={customer} name={`customer ${customer.id}`} needs="erasures.create">
          Names, e-mail address and network are erased here and in the audit log. What was bought and what it
          earned stays.
        </Erase>
      )}
      <DeleteRecord of={customers} record={customer}>
        The customer is deleted for good. Referrals and conversions of their purchases stay, and conversions
        with what they say of the customer: to remove that too, erase the customer first.
      </DeleteRecord>
    </>
  )
}

const LinkedAffiliates = ({ ids }: { ids: readonly number[] }) =>
  ids.length === 0 ? '–' : ids.map(id => <AffiliateName key={id} id={id} link />)

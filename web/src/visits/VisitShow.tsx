import { AffiliateName } from '../affiliates/AffiliateName.tsx'
import { Details } from '../ui/Details.tsx'
import { time } from '../ui/format.ts'
import { DeleteRecord } from '../ui/RecordForms.tsx'
import { RecordLink } from '../ui/RecordLink.tsx'
import { RecordShow } from '../ui/RecordShow.tsx'
import { Breakable } from '../ui/table.tsx'
import { visits } from './pages.ts'
import type { Visit } from './visit.ts'

const nameOf = ({ id }: Visit) => `Visit ${id}`

export function VisitShow() {
  return (
    <RecordShow<Visit>
      of={visits}
      nameOf={nameOf}
      actions={visit => (
        <DeleteRecord of={visits} record={visit}>
          The visit is deleted for good. A referral that it led to stays.
        </DeleteRecord>
      )}
    >
      {visit => (
        <Details
          items={[
            ['Affiliate', <AffiliateName key="affiliate" id={visit.affiliate_id} link />],
            ['Date', time(visit.date)],
            ['Page', <Breakable key="page" text={visit.url || '–'} />],
            ['From', <Breakable key="from" text={visit.referrer || '–'} />],
            ['Campaign', visit.campaign && <bdi key="campaign">{visit.campaign}</bdi>],
            ['Context', visit.context && <bdi key="context">{visit.context}</bdi>],
            ['Network', visit.ip],
            ['Led to', <RecordLink key="referral" kind="referral" id={visit.referral_id} />],
          ]}
        />
      )}
    </RecordShow>
  )
}

import { AffiliateName } from '../affiliates/AffiliateName.tsx'
import { capital } from '../names.ts'
import { Details, LongText } from '../ui/Details.tsx'
import { time } from '../ui/format.ts'
import { RecordLink } from '../ui/RecordLink.tsx'
import { RecordShow } from '../ui/RecordShow.tsx'
import { Credit } from './Credit.tsx'
import { amountText, type Conversion, isUnattributed, nameOf } from './conversion.ts'
import { conversions } from './pages.ts'
import { Story } from './Story.tsx'

export function ConversionShow() {
  return (
    <RecordShow<Conversion>
      of={conversions}
      nameOf={nameOf}
      actions={one => isUnattributed(one) && <Credit conversion={one} />}
    >
      {one => (
        <>
          <ConversionDetails conversion={one} />
          <Story id={one.id} />
        </>
      )}
    </RecordShow>
  )
}

function ConversionDetails({ conversion: one }: { conversion: Conversion }) {
  const isEmpty = (value: unknown) => JSON.stringify(value) === '{}' || JSON.stringify(value) === '[]'
  const long = (key: string, value: unknown) =>
    isEmpty(value) ? '' : <LongText key={key} text={JSON.stringify(value, null, 2)} />
  return (
    <Details
      items={[
        ['Kind', capital(one.kind)],
        ['Amount', <strong key="amount">{amountText(one)}</strong>],
        [
          'Credited to',
          one.affiliate_id === 0 ? 'Nobody' : <AffiliateName key="a" id={one.affiliate_id} link />,
        ],
        ['Happened', time(one.occurred_at)],
        ['Reported', time(one.date)],
        ['Reference', <bdi key="reference">{one.reference}</bdi>],
        ['Other names', one.references.length > 0 && <bdi key="names">{one.references.join(', ')}</bdi>],
        ['Context', one.context && <bdi key="context">{one.context}</bdi>],
        ['Part', one.part && <bdi key="part">{one.part}</bdi>],
        ['Coupon', one.coupon && <bdi key="coupon">{one.coupon}</bdi>],
        ['Campaign', one.campaign && <bdi key="campaign">{one.campaign}</bdi>],
        ['Country', one.country],
        ['Customer', one.customer_id !== 0 && <RecordLink key="c" kind="customer" id={one.customer_id} />],
        ['Visit', one.visit_id !== 0 && <RecordLink key="v" kind="visit" id={one.visit_id} />],
        ['Source', one.source_id !== 0 && <RecordLink key="s" kind="source" id={one.source_id} />],
        ['Lines', long('lines', one.lines)],
        ['Metadata', long('metadata', one.metadata)],
      ]}
    />
  )
}

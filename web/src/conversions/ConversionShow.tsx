import { AffiliateName } from '../affiliates/AffiliateName.tsx'
import { CustomerName } from '../customers/CustomerName.tsx'
import { Details, LongText } from '../ui/Details.tsx'
import { formatMoney, time } from '../ui/format.ts'
import { RecordLink } from '../ui/RecordLink.tsx'
import { RecordShow } from '../ui/RecordShow.tsx'
import { capital } from '../ui/words.ts'
import { amountText, lineText } from './amounts.ts'
import { Credit } from './Credit.tsx'
import { type Conversion, isUnattributed, nameOf } from './conversion.ts'
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
  const part = (amount: number) => amount !== 0 && formatMoney(amount, one.currency)
  const lines = one.lines.map(line => lineText(line, one.currency))
  const metadata = JSON.stringify(one.metadata, null, 2)
  return (
    <Details
      items={[
        ['Kind', capital(one.kind)],
        ['Amount', <strong key="amount">{amountText(one)}</strong>],
        ['Tax in it', part(one.tax)],
        ['Shipping in it', part(one.shipping)],
        ['Discount', part(one.discount)],
        [
          'Credited to',
          one.affiliate_id === 0 ? 'Nobody' : <AffiliateName key="a" id={one.affiliate_id} link />,
        ],
        ['Occurred', time(one.occurred_at)],
        ['Reported', time(one.date)],
        ['Reference', <bdi key="reference">{one.reference}</bdi>],
        ['Other names', one.references.length > 0 && <bdi key="names">{one.references.join(', ')}</bdi>],
        ['Context', one.context && <bdi key="context">{one.context}</bdi>],
        ['Part', one.part && <bdi key="part">{one.part}</bdi>],
        ['Coupon', one.coupon && <bdi key="coupon">{one.coupon}</bdi>],
        ['Campaign', one.campaign && <bdi key="campaign">{one.campaign}</bdi>],
        ['Country', one.country],
        ['Customer', one.customer_id !== 0 && <CustomerName key="c" id={one.customer_id} />],
        ['Visit', one.visit_id !== 0 && <RecordLink key="v" kind="visit" id={one.visit_id} />],
        ['Source', one.source_id !== 0 && <RecordLink key="s" kind="source" id={one.source_id} />],
        ['Bought', lines.length > 0 && <LongText key="lines" text={lines.join('\n')} />],
        ['Metadata', metadata !== '{}' && <LongText key="metadata" text={metadata} />],
      ]}
    />
  )
}

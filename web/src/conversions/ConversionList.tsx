import { SelectInput } from 'react-admin'
import { AffiliateInput } from '../affiliates/AffiliateInput.tsx'
import { AffiliateName } from '../affiliates/AffiliateName.tsx'
import { numberedName } from '../affiliates/affiliate.tsx'
import type { Column } from '../ui/column.ts'
import { Day } from '../ui/Day.tsx'
import { ChoiceFilter, DateFilter, TextFilter } from '../ui/filters.tsx'
import { RecordLink } from '../ui/RecordLink.tsx'
import { RecordList } from '../ui/RecordList.tsx'
import { capital } from '../ui/words.ts'
import { amountText } from './amounts.ts'
import { type Conversion, isUnattributed, kinds } from './conversion.ts'
import { conversions } from './pages.ts'

const credits = [
  { id: 'true', name: 'Nobody' },
  { id: 'false', name: 'An affiliate' },
]

export function ConversionList() {
  return (
    <RecordList<Conversion>
      of={conversions}
      columns={columns}
      search="Number or reference"
      filters={
        <>
          <SelectInput
            source="unattributed"
            label="Credited"
            choices={credits}
            translateChoice={false}
            emptyText="Any"
            helperText={false}
            margin="none"
            sx={{ width: { sm: 150 }, minWidth: 110 }}
          />
          <ChoiceFilter source="kind" label="Kind" choices={kinds} />
          <AffiliateInput nameOf={numberedName} helperText={false} sx={{ width: { sm: 220 } }} />
          <TextFilter source="context" label="Context" />
          <DateFilter />
        </>
      }
      empty="A conversion is what your shop says happened: a sale, a refund, a dispute. Your shop sends them through the API, or a source reads them from Stripe or WooCommerce."
    />
  )
}

const columns: Column<Conversion>[] = [
  {
    label: 'Conversion',
    sort: 'id',
    cell: ({ id }) => <RecordLink kind="conversion" id={id} />,
    card: '3 right',
  },
  {
    label: 'Occurred',
    sort: 'occurred_at',
    cell: ({ occurred_at }) => <Day text={occurred_at} />,
    card: '3 left',
  },
  { label: 'Kind', sort: 'kind', cell: ({ kind }) => capital(kind), card: '2 right' },
  {
    label: 'Reference',
    sort: 'reference',
    cell: ({ reference }) => <bdi>{reference}</bdi>,
    maxWidth: 220,
    minWidth: 90,
    card: '2 left',
  },
  { label: 'Context', sort: 'context', cell: ({ context }) => <bdi>{context || '–'}</bdi>, wideOnly: true },
  {
    label: 'Credited',
    sort: 'affiliate_name',
    cell: one => (isUnattributed(one) ? 'Nobody' : <CreditedTo conversion={one} />),
    minWidth: 96,
    card: '1 left',
  },
  {
    label: 'Amount',
    cell: conversion => <strong>{amountText(conversion)}</strong>,
    figures: true,
    card: '1 right',
  },
]

function CreditedTo({ conversion: { affiliate_id } }: { conversion: Conversion }) {
  return affiliate_id === 0 ? <>–</> : <AffiliateName id={affiliate_id} link />
}

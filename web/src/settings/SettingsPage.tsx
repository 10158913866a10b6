import { Alert } from '@mui/material'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { AutocompleteInput, required, SaveContextProvider, useNotify } from 'react-admin'
import { useWatch } from 'react-hook-form'
import type { SettingsRecord } from '../../../src/settings/schema.ts'
import { get, request } from '../api.ts'
import { changes, refuseContested } from '../contested.ts'
import { CLEAR } from '../messages.ts'
import { CarefulForm, ChoiceInput, FormButtons, FormSection, RateInput, Row, rateOf } from '../ui/form.tsx'
import { NamesInput } from '../ui/NamesInput.tsx'
import { Page, Problem } from '../ui/Page.tsx'
import { withoutNull } from '../ui/RecordForms.tsx'
import { useSubmit } from '../ui/submit.ts'
import { Waiting } from '../ui/Waiting.tsx'
import { PayoutSettings } from './PayoutSettings.tsx'
import { RecordingFields } from './RecordingFields.tsx'
import { TrackingFields } from './TrackingFields.tsx'

/** They are read once, and change when they are saved: nothing that was typed is kept beside that. */
const whenSaved = {}

export function SettingsPage() {
  const queryClient = useQueryClient()
  const notify = useNotify()
  const { data, error, refetch } = useQuery({
    queryKey: ['settings'],
    queryFn: () => get<SettingsRecord>('settings'),
    // Refetching would overwrite unsaved input.
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  })
  const submit = useSubmit(async values => {
    const changedSettings = changes(withoutNull(values), { id: 'settings', ...data })
    if ('default_rate' in changedSettings) changedSettings.default_rate = rateOf(changedSettings.default_rate)
    await refuseContested(changedSettings, await get<SettingsRecord>('settings'), data!)
    const { body } = await request<SettingsRecord>('PATCH', 'settings', { body: changedSettings })
    // What is typed next is compared with it: to read them again can fail.
    queryClient.setQueryData(['settings'], body)
    await queryClient.invalidateQueries({ queryKey: ['session'] })
    notify('Settings saved', { type: 'success' })
  })
  return (
    <Page title="Settings" narrow>
      {error && <Problem error={error} retry={() => refetch()} />}
      {!data && !error && <Waiting />}
      {data && (
        <SaveContextProvider value={submit}>
          <CarefulForm record={{ id: 'settings', ...data }} resource="settings" resetOptions={whenSaved}>
            <Fields settings={data} />
            <FormButtons />
          </CarefulForm>
        </SaveContextProvider>
      )}
    </Page>
  )
}

function Fields({ settings }: { settings: SettingsRecord }) {
  const rateTypes: string[] = useWatch({ name: 'rate_types' }) ?? []
  const choices = rateTypes.map(name => ({ id: name, name }))
  return (
    <>
      <FormSection
        title="Rates"
        hint="The rate of affiliates who have no rate of their own. A change applies to all of them at once."
      >
        <Row>
          <RateInput
            source="default_rate"
            typeSource="default_rate_type"
            label="Default rate"
            helperText="0 or more, with at most 4 decimals."
          />
          <ChoiceInput
            source="default_rate_type"
            label="Default rate type"
            choices={choices}
            missing="Choose one of the rate types."
            helperText="One of the rate types below."
          />
        </Row>
        <NamesInput
          source="rate_types"
          label="Rate types"
          helperText="The rate types that affiliates can have. Press Enter after each. Types in use cannot be removed."
        />
      </FormSection>
      <TrackingFields />
      <FormSection
        title="Currency"
        hint="The currency of every amount. Its minor unit decides how many decimals amounts have."
      >
        {settings.currency_locked && (
          <Alert severity="info" role="note">
            The currency cannot change any more, because amounts are recorded in it.
          </Alert>
        )}
        <AutocompleteInput
          autoHighlight
          clearText={CLEAR}
          source="currency"
          label="Currency"
          choices={settings.currencies.map(code => ({ id: code, name: currencyName(code) }))}
          disabled={settings.currency_locked}
          validate={required('Choose a currency.')}
          helperText="ISO 4217. Choose it with care: the first amount that is recorded, such as a referral or a payout, fixes it."
        />
      </FormSection>
      <RecordingFields />
      <PayoutSettings />
    </>
  )
}

const names = new Intl.DisplayNames('en', { type: 'currency' })
const currencyName = (code: string) => `${code} · ${names.of(code) ?? code}`

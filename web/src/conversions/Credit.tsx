import { Button, Dialog, DialogActions, DialogContent, DialogTitle, Typography } from '@mui/material'
import { useState } from 'react'
import { Form, HttpError, required, useNotify, useRefresh } from 'react-admin'
import { AffiliateInput } from '../affiliates/AffiliateInput.tsx'
import { payeeOf } from '../affiliates/affiliate.tsx'
import { WithNames } from '../affiliates/WithNames.tsx'
import { messageOf, request } from '../api.ts'
import { Allowed } from '../ui/Allowed.tsx'
import { exceptByBackdrop } from '../ui/dialog.ts'
import { type Conversion, nameOf } from './conversion.ts'

/** The form of the dialog starts empty. */
const nobody = {}

/** Credits a conversion that has no affiliate, by hand. */
export function Credit({ conversion }: { conversion: Conversion }) {
  const [open, setOpen] = useState(false)
  const notify = useNotify()
  const refresh = useRefresh()
  const { context, reference, currency } = conversion
  const credit = async ({ affiliate_id }: { affiliate_id?: number }) => {
    try {
      const body = { kind: 'attribution', context, reference, currency, affiliate_id }
      await request('POST', 'conversions', { body })
      notify(`${nameOf(conversion)} credited`, { type: 'success' })
      setOpen(false)
      refresh()
    } catch (error) {
      notify(<WithNames text={messageOf(error)} />, { type: 'error' })
      if (!(error instanceof HttpError) || error.status !== 409) return
      // Somebody else has credited it meanwhile: the page says whom.
      setOpen(false)
      refresh()
    }
  }
  return (
    <>
      <Allowed to="conversions.create">
        <Button variant="contained" onClick={() => setOpen(true)}>
          Credit to an affiliate
        </Button>
      </Allowed>
      <Dialog
        open={open}
        onClose={exceptByBackdrop(() => setOpen(false))}
        aria-labelledby="credit"
        maxWidth="xs"
        fullWidth
      >
        <Form record={nobody} onSubmit={credit}>
          <DialogTitle id="credit">Credit to an affiliate</DialogTitle>
          <DialogContent>
            <Typography sx={{ mb: 2, color: 'text.secondary' }}>
              The affiliate earns what the rules say for it, less what was refunded, and is credited for what
              the customer buys from then on. It cannot be credited to somebody else later.
            </Typography>
            <AffiliateInput
              nameOf={payeeOf}
              validate={required('Choose the affiliate to credit.')}
              helperText="Search by name, e-mail address or number."
            />
          </DialogContent>
          <DialogActions>
            <Button onClick={() => setOpen(false)}>Cancel</Button>
            <Button type="submit" variant="contained">
              Credit
            </Button>
          </DialogActions>
        </Form>
      </Dialog>
    </>
  )
}

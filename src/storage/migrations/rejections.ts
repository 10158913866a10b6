import type { Engine } from '../database.ts'

/** Why a person has rejected a referral. */
export function rejectionReasons({ text }: Engine): string[] {
  return [`ALTER TABLE referrals ADD COLUMN rejection_reason ${text} NOT NULL DEFAULT ''`]
}

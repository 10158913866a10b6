/** What people do in the administration area, done in a real browser. */
import { after, before, describe } from 'node:test'
import { affiliateScenarios } from './browser/affiliates.ts'
import { contestedScenarios } from './browser/contested.ts'
import { conversionScenarios } from './browser/conversions.ts'
import { formScenarios } from './browser/forms.ts'
import { keyboardScenarios } from './browser/keyboard.ts'
import { linkScenarios } from './browser/links.ts'
import { payoutScenarios } from './browser/payouts.ts'
import { referralScenarios } from './browser/referrals.ts'
import { ruleScenarios } from './browser/rules.ts'
import { runScenarios } from './browser/runs.ts'
import { toolScenarios } from './browser/tools.ts'
import { World } from './browser/world.ts'

describe('administration area in a browser', () => {
  let world: World
  before(async () => {
    world = await World.start('--demo')
  })
  after(() => world.close())
  const theWorld = () => world
  affiliateScenarios(theWorld)
  payoutScenarios(theWorld)
  referralScenarios(theWorld)
  conversionScenarios(theWorld)
  runScenarios(theWorld)
  ruleScenarios(theWorld)
  linkScenarios(theWorld)
  formScenarios(theWorld)
  contestedScenarios(theWorld)
  toolScenarios(theWorld)
  keyboardScenarios(theWorld)
})

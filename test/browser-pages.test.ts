/** What holds of every page of the administration area, in a real browser. */
import { pageScenarios } from './browser/pages.ts'
import { describeInWorld } from './browser/world.ts'

describeInWorld('every page in a browser', pageScenarios)

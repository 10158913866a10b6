/** What holds of every page of the administration area, in a real browser. */
import { accessScenarios } from './browser/access.ts'
import { pageScenarios } from './browser/pages.ts'
import { describeInWorld } from './browser/world.ts'

describeInWorld('every page in a browser', pageScenarios, accessScenarios)

/** Who is let in, and what the first page has for them, in a real browser. */
import { homeScenarios } from './browser/home.ts'
import { sessionScenarios } from './browser/session.ts'
import { describeInWorld } from './browser/world.ts'

describeInWorld('sessions in a browser', sessionScenarios, homeScenarios)

/** How people run a programme, and what they can rely on in every form, in a real browser. */
import { contestedScenarios } from './browser/contested.ts'
import { formScenarios } from './browser/forms.ts'
import { keyboardScenarios } from './browser/keyboard.ts'
import { linkScenarios } from './browser/links.ts'
import { ruleScenarios } from './browser/rules.ts'
import { runScenarios } from './browser/runs.ts'
import { toolScenarios } from './browser/tools.ts'
import { describeInWorld } from './browser/world.ts'

describeInWorld(
  'programme in a browser',
  runScenarios,
  ruleScenarios,
  linkScenarios,
  formScenarios,
  contestedScenarios,
  toolScenarios,
  keyboardScenarios,
)

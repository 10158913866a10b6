/** What holds of every page of the administration area, in a real browser. */
import { after, before, describe } from 'node:test'
import { pageScenarios } from './browser/pages.ts'
import { World } from './browser/world.ts'

describe('every page in a browser', () => {
  let world: World
  before(async () => {
    world = await World.start('--demo')
  })
  after(() => world.close())
  pageScenarios(() => world)
})

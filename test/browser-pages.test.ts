/** What holds of every page of the administration area, and of whoever is let in, in a real browser. */
import { after, before, describe } from 'node:test'
import { homeScenarios } from './browser/home.ts'
import { hostileScenarios } from './browser/hostile.ts'
import { pageScenarios } from './browser/pages.ts'
import { sessionScenarios } from './browser/session.ts'
import { World } from './browser/world.ts'

describe('every page in a browser', () => {
  let world: World
  before(async () => {
    world = await World.start('--demo')
  })
  after(() => world.close())
  const theWorld = () => world
  sessionScenarios(theWorld)
  homeScenarios(theWorld)
  pageScenarios(theWorld)
  hostileScenarios()
})

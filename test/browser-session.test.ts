/** Who is let in, and what the first page has for them, in a real browser. */
import { after, before, describe } from 'node:test'
import { homeScenarios } from './browser/home.ts'
import { sessionScenarios } from './browser/session.ts'
import { World } from './browser/world.ts'

describe('sessions in a browser', () => {
  let world: World
  before(async () => {
    world = await World.start('--demo')
  })
  after(() => world.close())
  const theWorld = () => world
  sessionScenarios(theWorld)
  homeScenarios(theWorld)
})

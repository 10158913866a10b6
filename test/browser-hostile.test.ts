/** Texts that would do harm if they were taken for anything but text, in a real browser. */
import { describe } from 'node:test'
import { hostileScenarios } from './browser/hostile.ts'

describe('hostile texts in a browser', hostileScenarios)

export type { Log } from './log.js'

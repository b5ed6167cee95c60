export { type Answer, ask, type Listens, listening, type Question } from './ask.js'
export { type BrowserAttack, browserAttacks } from './browser-attacks.js'
export { CannedPorts, exchange, golden, type LogRecord, recordedLog, until } from './http-tools.js'

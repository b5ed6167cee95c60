import { group } from '../frame/command.js'
import { auditCommand } from './audit.js'
import { backup, restore } from './backup.js'
import { checkCommand } from './check.js'
import { completion } from './completion.js'
import { deadLetters } from './dead-letters.js'
import { demo } from './demo.js'
import { keygen } from './keygen.js'
import { load } from './load.js'
import { mcp } from './mcp.js'
import { operations } from './operations.js'
import { operator } from './operator.js'
import { operators } from './operators.js'
import { start } from './start.js'
import { status } from './status.js'
import { submit } from './submit.js'
import { verdicts } from './verdicts.js'
import { verify } from './verify.js'
import { wallet } from './wallet.js'

export const root = group('ratatosk', 'Starts, checks and operates a Ratatosk node', [
  start,
  checkCommand,
  status,
  wallet,
  operators,
  operator,
  verdicts,
  deadLetters,
  ...operations,
  auditCommand,
  verify,
  backup,
  restore,
  submit,
  load,
  demo,
  mcp,
  keygen,
  completion(() => root),
])

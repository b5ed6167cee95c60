import { compile } from '@harmoniclabs/plu-ts'
import { headerFieldIndex } from '@ratatosk/block'
import {
  bData,
  blake2b224,
  bytes,
  equalsData,
  integer,
  mapOf,
  serialiseData,
} from '../validators/core/builtins.js'
import {
  lookUp,
  mintOf,
  oneToken,
  redeemerOf,
  scriptInfoOf,
  transactionOf,
} from '../validators/core/context.js'
import { at, fieldsOf } from '../validators/core/data.js'
import { createRuleBook, type RuleBook } from '../validators/core/rules.js'
import { bind, type Data, lambda, scope, type Unit } from '../validators/core/term.js'

/** The transactions root that makes a block a fraud in the tests. */
const invalidRoot = new Uint8Array(32).fill(3)

/**
 * A verdict policy for tests, of the usual form: it reads a header alone. It mints one token, named by the
 * header hash in its redeemer, if the transactions root in that header is 32 bytes of 3.
 */
const verdictPolicy = (book: RuleBook, context: Data): Unit =>
  scope(function* () {
    const header = yield* bind(redeemerOf(context))
    const policy = yield* bind(at(fieldsOf(scriptInfoOf(context)), 0))
    const hash = blake2b224(serialiseData(header))
    return book.enforce({
      'verdict-names-header': equalsData(
        mapOf(policy, lookUp(mintOf(transactionOf(context)), policy)),
        oneToken(policy, hash, integer(1)),
      ),
      'verdict-shows-fraud': equalsData(
        at(fieldsOf(header), headerFieldIndex.transactionsRoot),
        bData(bytes(invalidRoot)),
      ),
    })
  })

export const compileVerdictPolicy = (): Uint8Array =>
  compile(
    lambda((context: Data) => verdictPolicy(createRuleBook(), context)),
    [1, 1, 0],
  )

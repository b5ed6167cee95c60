import { compile } from '@harmoniclabs/plu-ts'
import { headerFieldIndex } from '@ratatosk/block'
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
import * as p from '../validators/core/term.js'

/** The transactions root that makes a block a fraud in the tests. */
const invalidRoot = new Uint8Array(32).fill(3)

/**
 * A verdict policy for tests, of the usual form: it reads a header alone. It mints one token, named by the
 * header hash in its redeemer, if the transactions root in that header is 32 bytes of 3.
 */
const verdictPolicy = (book: RuleBook, context: p.Data): p.Unit =>
  p.scope(function* () {
    const header = yield* p.bind(redeemerOf(context))
    const policy = yield* p.bind(at(fieldsOf(scriptInfoOf(context)), 0))
    const hash = p.blake2b224(p.serialiseData(header))
    return book.enforce({
      'verdict-names-header': p.equalsData(
        p.mapOf(policy, lookUp(mintOf(transactionOf(context)), policy)),
        oneToken(policy, hash, p.integer(1)),
      ),
      'verdict-shows-fraud': p.equalsData(
        at(fieldsOf(header), headerFieldIndex.transactionsRoot),
        p.bData(p.bytes(invalidRoot)),
      ),
    })
  })

export const compileVerdictPolicy = (): Uint8Array =>
  compile(
    p.lambda((context: p.Data) => verdictPolicy(createRuleBook(), context)),
    [1, 1, 0],
  )

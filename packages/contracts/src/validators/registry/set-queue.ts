import { authorises } from '../core/authority.js'
import { equalsInteger, integer } from '../core/builtins.js'
import { lovelaceOf, mintedQuantity } from '../core/context.js'
import { boolData, isTrue, not } from '../core/data.js'
import type { RuleBook } from '../core/rules.js'
import { bind, choose, scope, type Unit } from '../core/term.js'
import { type ChangeContext, continues, fieldsOfRegistry, registryDatum } from './context.js'

/**
 * Notes that the queue starts or ends in the same transaction. The registry names one queue for ever, because
 * that queue's removals slash operators; it runs exactly while its root exists.
 */
export const setQueue = (book: RuleBook, context: ChangeContext): Unit =>
  scope(function* () {
    const { parameters, transaction, registry, argument } = context
    const { operators, queue, running } = yield* fieldsOfRegistry(registry)
    const starts = yield* bind(isTrue(argument))
    const after = choose(starts, boolData(true), boolData(false))
    return book.enforce({
      'set-queue-by-administrator': authorises(parameters.administrator, transaction),
      'set-queue-changes': choose(starts, not(isTrue(running)), isTrue(running)),
      'set-queue-with-root': equalsInteger(
        mintedQuantity(transaction, queue, parameters.rootName),
        choose(starts, integer(1), integer(-1)),
      ),
      ...continues('set-queue', context, registryDatum(operators, queue, after), lovelaceOf(registry)),
    })
  })

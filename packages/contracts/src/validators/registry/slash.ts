import { Approach, Operator, QueueAction } from '../../layout.js'
import { addInteger, equalsData, equalsInteger, integer, subtractInteger, unIData } from '../core/builtins.js'
import { lookUp, lovelaceOf, Purpose, redeemersOf } from '../core/context.js'
import { at, both, constr, constructorOf, fieldsOf, find, isNone } from '../core/data.js'
import type { RuleBook } from '../core/rules.js'
import { isOf } from '../core/schedule.js'
import { bind, choose, scope, type Unit } from '../core/term.js'
import { type ChangeContext, continues, fieldsOfRegistry, registryDatum } from './context.js'
import { changed } from './operators.js'

/**
 * Deletes an operator whose invalid block the queue removes in the same transaction, and pays out the bond
 * but for the penalty. The registry is paid back as output 1, behind the element of the queue.
 *
 * The queue asks for the verdict, and that the slashed operator is the block's. Its policy mints a block's
 * token only for a header that its operator signed, and the registry names one queue permanently.
 */
export const slash = (book: RuleBook, context: ChangeContext): Unit =>
  scope(function* () {
    const { parameters, transaction, registry, argument: operator } = context
    const { operators, queue, running } = yield* fieldsOfRegistry(registry)
    const approach = yield* bind(context.approach)
    const entry = yield* bind(fieldsOf(find(operators, isOf(operator))))
    const action = lookUp(redeemersOf(transaction), constr(Purpose.minting, queue))
    return book.enforce({
      'slash-by-removal': both(
        equalsInteger(constructorOf(action), integer(QueueAction.remove)),
        equalsData(at(fieldsOf(action), 1), approach),
      ),
      'slash-approach': equalsData(
        approach,
        choose(isNone(at(entry, Operator.activeUntil)), constr(Approach.active), constr(Approach.retired)),
      ),
      ...continues(
        'slash',
        context,
        registryDatum(
          changed(operators, operator, (rest) => rest),
          queue,
          running,
        ),
        addInteger(
          subtractInteger(lovelaceOf(registry), unIData(at(entry, Operator.bond))),
          unIData(parameters.slashPenalty),
        ),
        1,
      ),
    })
  })

import type { RuleBook } from '../core/rules.js'
import type { Data, Unit } from '../core/term.js'
import { ledgerFrauds } from './ledger/frauds.js'
import { fraudPolicy } from './policy.js'
import { transactionFrauds, transactionFraudsOfVersion11 } from './transaction/frauds.js'
import type { RuleParameters } from './transaction/opening.js'
import { witnessFrauds } from './witness/frauds.js'
import type { LanguageViews } from './witness/script-data-frauds.js'

/** Proves that a block does to outputs what no valid block does. Without parameters. */
export const ledgerFraud = (book: RuleBook, context: Data): Unit => fraudPolicy(book, ledgerFrauds, context)

/** Proves that a transaction breaks a rule of its own. The parameters are the rules of the layer 2. */
export const transactionFraud = (book: RuleBook, parameters: RuleParameters, context: Data): Unit =>
  fraudPolicy(book, transactionFrauds(parameters), context)

/** The same for ledger version 11. */
export const transactionFraudOfVersion11 = (
  book: RuleBook,
  parameters: RuleParameters,
  context: Data,
): Unit => fraudPolicy(book, transactionFraudsOfVersion11(parameters), context)

/**
 * Proves that a transaction lacks a signature, script, redeemer or datum, or has a wrong one. `views`: the
 * cost models by which the layer 2 judges its transactions.
 */
export const witnessFraud = (book: RuleBook, views: LanguageViews, context: Data): Unit =>
  fraudPolicy(book, witnessFrauds(views), context)

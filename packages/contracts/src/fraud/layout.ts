/*
 * The constructors of fraud proofs: validators read and codecs write them.
 */

/** Constructors of the redeemer of the ledger policy: what is wrong with the outputs of a block. */
export const LedgerFraud = {
  inputSpentElsewhere: 0,
  spentWithoutInput: 1,
  outputNotNoted: 2,
  inventedOutput: 3,
  strayFromBefore: 4,
  spentBeforeMade: 5,
  wrongOutputsAfter: 6,
  wrongResolved: 7,
  referenceInputMissing: 8,
  gapInTransactions: 9,
  strangeEntry: 10,
  wrongFees: 11,
  wrongResolvedHash: 12,
  wrongLength: 13,
  tooLong: 14,
  wrongChunk: 15,
} as const

/**
 * The constructor of the redeemer of the ledger policy that shows a part of a proof: what some references of
 * a transaction stand for.
 */
export const LedgerPart = { resolution: 16 } as const

/** Constructors of what is wrong with the chunks of a block. */
export const ChunkFlaw = {
  countsDiffer: 0,
  misplaced: 1,
  missing: 2,
  nextElsewhere: 3,
  transactionsLeft: 4,
  inventedTransaction: 5,
  otherTransaction: 6,
  strangeRest: 7,
  malformed: 8,
  tooShort: 9,
} as const

/** Constructors of the redeemer of the transaction policy: which rule a transaction of a block breaks. */
export const TransactionFraud = {
  valueNotPreserved: 0,
  feeTooSmall: 1,
  outputTooSmall: 2,
  outputOnOtherNetwork: 3,
  outsideInterval: 4,
  forbiddenField: 5,
  wrongNetwork: 6,
  forbiddenWithdrawal: 7,
  noInputs: 8,
  inputIsReferenceInput: 9,
  unreadablePart: 10,
  unreadableReference: 11,
  malformedPart: 12,
  strangeField: 13,
  strangeOutput: 14,
  strangeWitness: 15,
  repeatedReference: 16,
  tooMany: 17,
  strangeItem: 18,
} as const

/**
 * The fields of a transaction body that layer 2 allows, by their key in the CDDL: 1 for allowed. The others
 * do not exist, or need stake or governance state.
 */
export const allowedFields: Uint8Array = Uint8Array.from({ length: 24 }, (_, key) =>
  Number([0, 1, 2, 3, 5, 7, 8, 9, 11, 13, 14, 15, 16, 17, 18].includes(key)),
)

/** Constructors of the redeemer of the witness policy: what is wrong with the witnesses of a transaction. */
export const WitnessFraud = {
  invalidSignature: 0,
  missingSignature: 1,
  nativeScriptFails: 2,
  scriptMissing: 3,
  redeemerMissing: 4,
  datumMissing: 5,
  wrongScriptDataHash: 6,
  unreadableScript: 7,
} as const

/** Constructors of what a transaction needs a signature or a script for. */
export const WitnessNeed = { spent: 0, minted: 1, withdrawn: 2, required: 3 } as const

/**
 * The block version of the blocks that fraud proofs speak of: their headers commit to the transactions
 * map.
 */
export const provableVersion = 4n

import { encodeRegistryDatum, type RegistryDatum } from '../../datum/registry.js'
import type { TestTransaction } from '../transaction.js'
import { changeOutput } from '../world.js'

export const signedBy = (transaction: TestTransaction, ...hashes: Uint8Array[]): TestTransaction => ({
  ...transaction,
  signatories: hashes,
})

export const withDatum = (transaction: TestTransaction, datum: RegistryDatum): TestTransaction =>
  changeOutput(transaction, 0, { datum: encodeRegistryDatum(datum) })

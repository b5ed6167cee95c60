export { isRootsError, ProverBusyError, RootsError, type RootsErrorCode } from './errors.js'
export {
  type Against,
  type HeldProof,
  openProver,
  type Prover,
  type ProverOptions,
  type TransactionProof,
} from './open-prover.js'
export { openRoots } from './open-roots.js'
export type { BlockRoots, Misfits, OutputProof, Roots, RootsOptions, UnspentOutput } from './types.js'

export { isRootsError, ProverBusyError, RootsError, type RootsErrorCode } from './errors.js'
export { type AnswersOptions, type BlockAnswers, openAnswers } from './open-answers.js'
export {
  type OpenProver,
  openProver,
  type ProverOptions,
} from './open-prover.js'
export { openRoots } from './open-roots.js'
export type { BlockRoots, Misfits, OutputProof, PaidRoots, Roots, RootsOptions, Shown } from './types.js'

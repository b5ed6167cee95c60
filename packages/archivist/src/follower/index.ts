export { verifyBody } from '../body/verify.js'
export type * from './types.js'

export { Cip30Error, PaginateError } from './errors.js'
export { type Layer2Options, layer2, type SigningApi } from './layer2.js'
export type {
  Cip30Api,
  Cip30Wallet,
  DataSignature,
  DevWalletOptions,
  Hex,
  Paginate,
  PublicWallet,
} from './types.js'

export { type Finality, finalities, genesisHash } from './finality.js'
export type { ReadIndex } from './indexed.js'
export type { Layer2ChainOptions } from './open-layer2-chain.js'
export { type Layer2Chain, openLayer2Chain } from './open-layer2-chain.js'

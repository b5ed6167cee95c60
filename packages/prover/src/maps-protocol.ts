/** A question to the thread that holds transactions maps, and its answer. */
export interface Exchanges {
  /**
   * Begins a map: decodes the transactions. The answer names the transactions that produced what they spend
   * and read.
   */
  begin: {
    readonly request: { readonly block: string; readonly transactions: readonly Uint8Array[] }
    readonly answer: { readonly producers: readonly Uint8Array[] }
  }
  /** Finishes it with the CBOR of the producers that were found, and with genesis outputs. */
  finish: {
    readonly request: {
      readonly block: string
      readonly producers: readonly Uint8Array[]
      readonly genesis: readonly (readonly [outref: Uint8Array, output: Uint8Array])[]
    }
    readonly answer: { readonly root: Uint8Array }
  }
  /** Proves an entry, or that there is none; undefined without the block's map. */
  prove: {
    readonly request: { readonly block: string; readonly key: Uint8Array }
    readonly answer: MapProof | undefined
  }
}

/** A proof of an entry of a transactions map, or of its absence. */
export interface MapProof {
  readonly root: Uint8Array
  /** Undefined if the map has no such key. */
  readonly value: Uint8Array | undefined
  /** `proofToCbor` of `@ratatosk/trie`. */
  readonly proof: Uint8Array
}

export type Kind = keyof Exchanges

export interface Question<K extends Kind = Kind> {
  readonly id: number
  readonly kind: K
  readonly request: Exchanges[K]['request']
}

export type Answer =
  | { readonly id: number; readonly answer: Exchanges[Kind]['answer'] }
  | { readonly id: number; readonly error: string }

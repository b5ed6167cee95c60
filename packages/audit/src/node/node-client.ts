interface RequestOptions {
  readonly signal: AbortSignal
}

/** Of the client of `@ratatosk/client`, all that is used here. */
export interface NodeClient {
  getStateQueue(options: RequestOptions): Promise<{ readonly headers: readonly string[] }>
  listBlockTransactions(
    parameters: { readonly header_hash: string },
    options: RequestOptions,
  ): Promise<{ readonly hashes: readonly string[] }>
  getTransactionStatus(
    parameters: { readonly tx_hash: string },
    options: RequestOptions,
  ): Promise<{
    readonly status: string
    readonly block?: { readonly height: number; readonly headerHash: string }
  }>
  getTransaction(
    parameters: { readonly tx_hash: string },
    options: RequestOptions,
  ): Promise<{ readonly tx: string }>
  getOutput(
    parameters: { readonly ref: string },
    options: RequestOptions,
  ): Promise<{ readonly output: { readonly spentBy?: { readonly txHash: string } } }>
  listUtxos(
    parameters: { readonly address: string },
    options: RequestOptions,
  ): Promise<{ readonly utxos: readonly { readonly outref: string; readonly value: string }[] }>
  readEvents(
    parameters: { readonly type: 'accepted' },
    options: RequestOptions,
  ): AsyncGenerator<{ readonly type: string; readonly data: object }, void>
}

/** Whether a node answered 404 for what it does not have, rather than for what it does not serve. */
export function isNotFound(error: unknown): boolean {
  if (!(error instanceof Error && 'status' in error && error.status === 404)) return false
  const body = 'body' in error ? (error.body as { readonly code?: unknown } | undefined) : undefined
  return body?.code !== 'DISABLED'
}

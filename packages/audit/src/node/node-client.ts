interface RequestOptions {
  readonly signal: AbortSignal
  readonly maxAnswerBytes?: number
}

/** Of the client of `@ratatosk/client`, all that is used here. Answers may have any shape. */
export interface NodeClient {
  getStateQueue(options: RequestOptions): Promise<unknown>
  listBlockTransactions(
    parameters: { readonly header_hash: string },
    options: RequestOptions,
  ): Promise<unknown>
  getTransactionStatuses(parameters: { readonly tx_hash: string }, options: RequestOptions): Promise<unknown>
  getTransaction(parameters: { readonly tx_hash: string }, options: RequestOptions): Promise<unknown>
  getOutput(parameters: { readonly ref: string }, options: RequestOptions): Promise<unknown>
  listUtxos(parameters: { readonly address: string }, options: RequestOptions): Promise<unknown>
  readEvents(
    parameters: { readonly type: 'accepted' },
    options: RequestOptions,
  ): AsyncGenerator<{ readonly type: string; readonly data: unknown }, void>
}

/** Whether a node answered 404 for what it does not have, rather than for what it does not serve. */
export function isNotFound(error: unknown): boolean {
  if (!(error instanceof Error && 'status' in error && error.status === 404)) return false
  const body = 'body' in error ? (error.body as { readonly code?: unknown } | undefined) : undefined
  return body?.code !== 'DISABLED'
}

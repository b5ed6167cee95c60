/** The result of one check of what a node needs. */
export interface NodeFinding {
  /** The subject of the check, such as `PostgreSQL`. */
  readonly subject: string
  /** A node starts with a `warning`, but not or not correctly with a failure. */
  readonly status: 'ok' | 'warning' | 'failed'
  /** The finding and, unless it is `ok`, the remedy. Without credentials. */
  readonly message: string
}

/** Makes findings about one subject. */
export function about(subject: string) {
  return {
    ok: (message: string): NodeFinding => ({ subject, status: 'ok', message }),
    warning: (message: string): NodeFinding => ({ subject, status: 'warning', message }),
    failed: (message: string): NodeFinding => ({ subject, status: 'failed', message }),
  }
}

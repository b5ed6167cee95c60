/** The right of one process at a time to do a job. */
export interface Lease {
  /** The job. */
  readonly name: string
  /** The process that holds the lease, for logs. */
  readonly holder: string
  /** Fencing token: greater than that of every earlier lease of this name. */
  readonly token: bigint
  /** By the database's clock. */
  readonly expiresAt: Date
}

/** A lease that is renewed while it is held. */
export interface HeldLease {
  /** As of the latest renewal. */
  readonly lease: Lease
  /** Aborts when the lease is lost: it expired, or another holder took it. */
  readonly lost: AbortSignal
  /** Frees the lease. Safe to call twice, and after the lease is lost. */
  release(): Promise<void>
}

/** Leases expire by the database's clock alone. */
export interface Leases {
  /**
   * Acquires the lease if it is free or expired. `undefined`: another holder has it.
   *
   * @param holder names the process in logs
   * @param ttlMs how long the lease lasts, in whole milliseconds from 1
   */
  acquire(name: string, holder: string, ttlMs: number): Promise<Lease | undefined>
  /**
   * Acquires the lease if it is free or expired, and renews it every third of `ttlMs` until it is released or
   * lost. `undefined`: another holder has it.
   *
   * @example
   * const held = await store.leases.hold('sequencer', 'host 1', 10_000)
   * await held?.release()
   */
  hold(name: string, holder: string, ttlMs: number): Promise<HeldLease | undefined>
  /**
   * Extends the lease to `ttlMs` from now. `undefined`: it has expired or was taken, and its work must stop.
   */
  renew(lease: Lease, ttlMs: number): Promise<Lease | undefined>
  /** The lease that is held under this name now. `undefined`: it is free. */
  current(name: string): Promise<Lease | undefined>
  /** The newest lease under this name, whether or not it is held. `undefined`: there never was one. */
  newest(name: string): Promise<Lease | undefined>
  /** Frees the lease. False: it was no longer held. */
  release(lease: Lease): Promise<boolean>
}

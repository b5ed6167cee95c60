/** A value of a metric, and the labels that distinguish it from the others of its name. */
export interface Sample {
  readonly value: number
  readonly labels?: Readonly<Record<string, string>>
}

/** A metric whose values are read when it is scraped. */
export interface Metric {
  /** Such as `ratatosk_queue_transactions`. */
  readonly name: string
  readonly help: string
  /** A counter only grows while the process runs. */
  readonly kind: 'counter' | 'gauge'
  /** Names of the labels of its samples. */
  readonly labels?: readonly string[]
  /** The current values. If it throws or rejects, a scrape omits the metric, and counts and reports it. */
  read(): readonly Sample[] | Promise<readonly Sample[]>
}

/** A request that was answered. */
export interface AnsweredRequest {
  readonly method: string
  /** The pattern of the route, such as `/deadLetters/:id`. */
  readonly route: string
  readonly status: number
  readonly seconds: number
}

/** Collects numbers and writes them. */
export interface Registry {
  answered(request: AnsweredRequest): void
  /**
   * All metrics in the text format of Prometheus.
   *
   * @param onOmitted called for a metric that could not be read, once until it can be read again
   */
  read(
    onOmitted?: (metric: string, cause: unknown) => void,
  ): Promise<{ readonly contentType: string; readonly text: string }>
}

/** The ports of a plugin under test, with canned answers; records the calls. */
export class CannedPorts {
  readonly asked: string[] = []
  /** The error of every call, unless undefined. */
  failure: unknown

  protected async answer<T>(call: string, answer: T): Promise<T> {
    this.asked.push(call)
    if (this.failure !== undefined) throw this.failure
    return answer
  }
}

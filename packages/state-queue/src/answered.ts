/**
 * The answer that a port gave.
 *
 * @param port its name and method, for the log
 * @throws {TypeError} for `undefined` and `null`, of which a serializer would make an empty answer
 */
export function answered<Answer>(port: string, answer: Answer): Answer {
  if (answer === undefined || answer === null) throw new TypeError(`${port}() must not give ${answer}`)
  return answer
}

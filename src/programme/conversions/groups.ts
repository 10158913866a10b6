/** Groups things that belong together (union-find). Pure. */
export class Groups {
  readonly #parents = new Map<string | number, string | number>()

  /** The same for all members of a group. */
  rootOf(one: string | number): string | number {
    let root = one
    for (let next = this.#parents.get(root); next !== undefined; next = this.#parents.get(root)) root = next
    // Path compression.
    for (let step = one; step !== root; ) {
      const next = this.#parents.get(step)!
      this.#parents.set(step, root)
      step = next
    }
    return root
  }

  join(one: string | number, other: string | number): void {
    const [a, b] = [this.rootOf(one), this.rootOf(other)]
    if (a !== b) this.#parents.set(a, b)
  }
}

import { Component, type ReactNode } from 'react'
import { ErrorPage } from './Page.tsx'

interface Props {
  /** The current path: another page gets a fresh start. */
  page: string
  children: ReactNode
}

interface State {
  page: string
  error?: Error | undefined
}

/** Keeps the menu usable when a page fails. */
export class ErrorBoundary extends Component<Props, State> {
  override state: State = { page: this.props.page }

  static getDerivedStateFromError(error: Error) {
    return { error }
  }

  static getDerivedStateFromProps({ page }: Props, state: State) {
    return page === state.page ? null : { page, error: undefined }
  }

  override render() {
    const { error } = this.state
    if (!error) return this.props.children
    return <ErrorPage error={error} resetErrorBoundary={() => location.reload()} />
  }
}

#pragma once

#include <QString>

namespace glmchat {

/// A file that exists while a model is being loaded. Found at start, it means that loading took the program
/// down: that model must not be loaded again by itself.
class LoadMarker {
  public:
    explicit LoadMarker(const QString& configFolder) : m_path(configFolder + QStringLiteral("/loading")) {}

    void write(
        const QString& modelFolder) const;  ///< best effort: a read-only folder must not forbid loading
    void clear() const;
    QString interruptedFolder() const;  ///< "" when the last load ended in order

  private:
    const QString m_path;
};

}  // namespace glmchat
